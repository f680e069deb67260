# Means of real GDP and unemployment over the years that have all four quarters, as CSV in the file
# `out`; from a CSV file with the columns year, quarter, realgdp and unemp among others.
BEGIN {
    FS = ","
    print "year,realgdp,unemp" > out
}
NR == 1 {
    for (i = 1; i <= NF; i++) {
        gsub(/"/, "", $i)
        column[$i] = i
    }
    next
}
{
    year = $column["year"]
    gdp[year] += $column["realgdp"]
    unemp[year] += $column["unemp"]
    if (++quarters[year] == 4)
        printf "%d,%.17g,%.17g\n", year, gdp[year] / 4, unemp[year] / 4 > out
}
