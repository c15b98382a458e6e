# Effects of judges with one standard deviation for each level of `expert`, as lme4 has them by Laplace's approximation:
# a dummy of each level, (0 + no | judge) + (0 + yes | judge). Two objects, both orders. Columns are doubled, so that
# estimates are log-worths (half log-odds); the effects of two objects differ with the standard deviation sqrt(2) sigma.
# Usage: Rscript scales_glmer.R scales_glmer.csv scales_glmer.json
library(lme4)
files <- commandArgs(trailingOnly = TRUE)
d <- read.csv(files[1])
d$x <- 2 * ((d$object_i == "A") - (d$object_j == "A"))
d$order <- 2
d$length <- 2 * (d$length_i - d$length_j)
yes <- d$expert == "yes"
beside <- function(column) list(column * !yes, column * yes)
apart <- list(x = beside(d$x * sqrt(2)), order = beside(d$order), length = beside(d$length))
tight <- glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5), tolPwrss = 1e-12)
fitted <- function(of, more = "") {
  d$no <- apart[[of]][[1]]
  d$yes <- apart[[of]][[2]]
  d$both <- d$x * sqrt(2)
  formula <- paste("y ~ 0 + x + order + length + (0 + no | judge) + (0 + yes | judge)", more)
  glmer(as.formula(formula), d, binomial, control = tight)
}
fits <- list(object = fitted("x"), order = fitted("order"), length = fitted("length"),
             crossed = fitted("x", "+ (0 + both | prompt)"))
number <- function(v) paste(sprintf("%.8f", v), collapse = ", ")
told <- sapply(names(fits), function(name) {
  sigma <- as.data.frame(VarCorr(fits[[name]]))
  sprintf(' "%s": {"coefficients": [%s], "sigma": {%s}, "logLik": %.8f}', name, number(fixef(fits[[name]])),
          paste(sprintf('"%s": %.8f', sigma$var1, sigma$sdcor), collapse = ", "), logLik(fits[[name]]))
})
cat(sprintf('{\n "package": "lme4 %s, %s",\n "source": "scales_glmer.R on scales_glmer.csv",\n', packageVersion("lme4"),
            R.version.string),
    paste(told, collapse = ",\n"), "\n}\n", file = files[2], sep = "")
