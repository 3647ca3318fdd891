#ifndef CKEYCHAIN_SQLITE_H
#define CKEYCHAIN_SQLITE_H

// All that Swift has of SQLite comes from this header.
#include <sqlite3.h>

/// Switches off what a database's own schema can make a connection run, triggers and views, and every way to write into
/// the database but by its tables. A word in double quotes is a name and never a text.
///
/// @return SQLite's result code.
int ckeychain_sqlite_harden(sqlite3 *database);

#endif
