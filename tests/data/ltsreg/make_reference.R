# Made once with R 4.2.2 and robustbase 0.95.0 (Debian r-cran-robustbase):
#   Rscript make_reference.R > reference.csv
# Writes the data sets beside itself. The sum is that of the h smallest squared
# residuals of the raw (not reweighted) fit; seconds are user CPU time.
suppressMessages(library(robustbase))
sets <- list(
  stackloss = stackloss[, c(1:3, 4)],
  hbk = hbk,
  starsCYG = starsCYG,
  coleman = coleman,
  wood = wood
)
cat("dataset,alpha,n,d,h,sum,seconds\n")
for (name in names(sets)) {
  table <- as.matrix(sets[[name]])
  d <- ncol(table) - 1
  X <- table[, 1:d, drop = FALSE]
  y <- table[, d + 1]
  colnames(table)[d + 1] <- "target"
  write.csv(table, paste0(name, ".csv"), row.names = FALSE, quote = FALSE)
  for (alpha in c(0.5, 0.75)) {
    h <- h.alpha.n(alpha, nrow(X), d + 1)
    set.seed(1)
    time <- system.time(fit <- ltsReg(X, y, alpha = alpha, nsamp = 5000))
    squares <- sort((y - cbind(1, X) %*% fit$raw.coefficients)^2)
    cat(sprintf("%s,%g,%d,%d,%d,%.17g,%.3f\n", name, alpha, nrow(X), d, h,
                sum(squares[1:h]), time[["user.self"]]))
  }
}
