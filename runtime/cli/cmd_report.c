/* cmd_report.c -- `report`: another command, and one HTML page of what it finds. */
#include "cli/command.h"

enum exit_code cmd_report(const struct cli *cli)
{
    struct cli reported = *cli;

    reported.report = report_new(cli);
    if (!reported.report)
        return cmd_fail(cli, KB_NO_MEMORY, NULL);
    enum exit_code code = cmd_start(&reported);
    report_free(reported.report);
    return code;
}
