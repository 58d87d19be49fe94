/* bank_row.h -- the numbers of an HBM with banks: struct bank_row. */
#ifndef BANK_ROW_H
#define BANK_ROW_H
#include "spec.h"
#include "machine/tables.h"

struct bank_row bank_row_of(const struct spec *spec);

#endif
