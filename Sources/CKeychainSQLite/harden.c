#include "CKeychainSQLite.h"

// sqlite3_db_config takes any number of arguments, as no function that Swift can call does.
int ckeychain_sqlite_harden(sqlite3 *database) {
    const struct {
        int option;
        int value;
    } settings[] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
    };
    for (unsigned index = 0; index < sizeof settings / sizeof settings[0]; index++) {
        int set = -1;
        int code = sqlite3_db_config(database, settings[index].option, settings[index].value, &set);
        if (code != SQLITE_OK) return code;
        if (set != settings[index].value) return SQLITE_ERROR;
    }
    return SQLITE_OK;
}
