/*
 * help_complete.c -- what may come next on a command line, and the scripts by which shells ask.
 *
 * A completion script for bash, zsh or fish is a few lines: it calls the program itself, as
 * `cube8 --complete WORD...`, with all words up to the cursor, and the program answers with one
 * candidate per line, a tab, and what it means. So completions are always those of this program, of
 * its machine and its benches, without a table in the script.
 *
 * The words before the last are read in the same way as the parser does, but loosely: which command
 * is named, which operands are there, whether the last word is the argument of an option. Then the
 * last word is one of:
 *
 *   - the argument of an option: by its form ("on|off": these words; FILE: the shell finds
 *     files), by `words` of its row, or by offer() for names that only the program knows;
 *   - an option, if it begins with "-": those of the command;
 *   - the command, or the operand that is due.
 *
 * In a list only the last item is completed ("c0.pe0,c0.pe1"); what is before it is `kept` and
 * repeated in front of each candidate, because shells replace whole words.
 */
#include "base/help.h"
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 256 };

/* -- candidates ----------------------------------------------------------------------------- */

void help_offer(struct completing *c, const char *text, const char *what)
{
    if (strncmp(text, c->word, strlen(c->word)) != 0)
        return;
    fwrite(c->word - c->kept, 1, c->kept, c->to);
    fputs(text, c->to);
    if (what)
        fprintf(c->to, "\t%s", what);
    fputc('\n', c->to);
}

void help_offer_files(struct completing *c)
{
    fputs(":files\n", c->to);
}

/* Words with one of `between` between them. */
static void offer_words(struct completing *c, const char *words)
{
    char word[WORD_BYTES];

    for (size_t n; *words; words += n + (words[n] != '\0')) {
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        help_offer(c, word, NULL);
    }
}

static void offer_named(struct completing *c, const char *name);

/* One of "a|B|c": small letters are words, large ones names. */
static void offer_choices(struct completing *c, const char *choices)
{
    char choice[WORD_BYTES];

    for (size_t n; *choices; choices += n + (choices[n] != '\0')) {
        n = strcspn(choices, "|");
        snprintf(choice, sizeof choice, "%.*s", (int)n, choices);
        if (choice[0] >= 'A' && choice[0] <= 'Z')
            offer_named(c, choice);
        else
            help_offer(c, choice, NULL);
    }
}

/* Offers the values of an operand or argument called `name`. */
static void offer_named(struct completing *c, const char *name)
{
    static const char *const files[] = {"FILE", "A", "B"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(name, files[i]) == 0) {
            help_offer_files(c);
            return;
        }
    if (strcmp(name, "DIR") == 0)
        fputs(":folders\n", c->to);
    else if (strchr(name, '|'))
        offer_choices(c, name);
    else if (c->help->offer)
        c->help->offer(c, name);
}

/* In a list only the last item is being typed; a comma in brackets does not end an item. */
static void skip_list(struct completing *c)
{
    int depth = 0;
    const char *begin = c->word;

    for (const char *p = begin; *p; p++) {
        depth += (*p == '[') - (*p == ']');
        if (*p == ',' && depth == 0)
            c->word = p + 1;
    }
    c->kept += (size_t)(c->word - begin);
}

/* "[ops]" is "ops". */
static void offer_bare(struct completing *c, const char *argument)
{
    char name[WORD_BYTES];

    snprintf(name, sizeof name, "%s", argument + 1);
    name[strcspn(name, "]")] = '\0';
    help_offer(c, name, NULL);
}

static void offer_value(struct completing *c, const struct help_option *o)
{
    if (o->argument && strcmp(o->argument, "LIST") == 0)
        skip_list(c);
    if (o->words && o->words[0] == '@')
        offer_named(c, o->words + 1);
    else if (o->words)
        offer_words(c, o->words);
    else if (help_may_lack(o))
        offer_bare(c, o->argument);
    else if (o->argument)
        offer_named(c, o->argument);
}

/* -- options -------------------------------------------------------------------------------- */

static unsigned bits_of(const struct completing *c)
{
    return 1u << c->command;
}

static struct help_option option_of(const struct completing *c, unsigned id)
{
    return c->help->option(id, c->command < c->help->n_commands ? bits_of(c) : help_all(c->help));
}

/* The option that is written as `word`, `len` bytes; false: none is. */
static bool find_option(const struct completing *c, const char *word, size_t len,
                        struct help_option *out)
{
    for (unsigned i = 0; i < c->help->n_options; i++) {
        *out = option_of(c, i);
        if (len == 2 && word[0] == '-' && word[1] == out->letter)
            return true;
        if (len > 2 && strncmp(word, "--", 2) == 0 && strlen(out->name) == len - 2 &&
            strncmp(word + 2, out->name, len - 2) == 0)
            return true;
    }
    return false;
}

/* Before the command is named, options of any may stand. */
static void offer_options(struct completing *c)
{
    bool named = c->command < c->help->n_commands || c->help->n_commands == 0;
    char form[WORD_BYTES];

    for (unsigned i = 0; i < c->help->n_options; i++) {
        struct help_option o = option_of(c, i);

        if (named && !(o.commands & bits_of(c)))
            continue;
        snprintf(form, sizeof form, "--%s", o.name);
        help_offer(c, form, o.help);
    }
}

/* -- operands ------------------------------------------------------------------------------- */

/* Commands that may be named now, as bits: all, those that a command wraps, or none. */
static unsigned commands_due(const struct completing *c)
{
    const struct help *h = c->help;

    if (c->command == h->n_commands)
        return help_all(h);
    return h->wrapped && c->command == h->wrapper ? h->wrapped : 0;
}

static void offer_commands(struct completing *c)
{
    for (unsigned i = 0; i < c->help->n_commands; i++)
        if (commands_due(c) >> i & 1)
            help_offer(c, c->help->commands[i].name, c->help->commands[i].summary);
}

/* The operand that is due, by its name; of "[NAME=VALUE]..." there may be any number. */
static void offer_operand(struct completing *c)
{
    const char *operands =
        c->help->n_commands == 0 ? c->help->operands : c->help->commands[c->command].operands;
    char name[WORD_BYTES];

    for (size_t i = 0, n; *operands; i++, operands += n + (operands[n] == ' ')) {
        n = strcspn(operands, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, operands);
        if (i == c->n_operands || (i < c->n_operands && n > 3 && name[n - 1] == '.')) {
            offer_named(c, name);
            return;
        }
    }
}

/* -- the words before ----------------------------------------------------------------------- */

static void take_operand(struct completing *c, const char *word)
{
    for (unsigned i = 0; i < c->help->n_commands; i++)
        if (commands_due(c) >> i & 1 && strcmp(word, c->help->commands[i].name) == 0) {
            c->command = i;
            return;
        }
    c->operand[c->n_operands++] = word;
}

/* Goes through all words but the last; true: that one is the argument of *option. */
static bool take_words(struct completing *c, char *const words[], size_t n,
                       struct help_option *option, bool *operands_only)
{
    struct help_option o;

    for (size_t i = 0; i + 1 < n; i++) {
        if (*operands_only || words[i][0] != '-' || !words[i][1]) {
            take_operand(c, words[i]);
        } else if (strcmp(words[i], "--") == 0) {
            *operands_only = true;
        } else if (find_option(c, words[i], strlen(words[i]), &o) && o.argument &&
                   !help_may_lack(&o) && ++i + 1 == n) {
            *option = o;
            return true;
        }
    }
    return false;
}

static void offer_last(struct completing *c, bool operands_only)
{
    size_t len = strcspn(c->word, "=");
    struct help_option o;

    if (!operands_only && strncmp(c->word, "--", 2) == 0 && c->word[len] == '=') {
        if (!find_option(c, c->word, len, &o))
            return;
        c->word += len + 1;
        c->kept = len + 1;
        offer_value(c, &o);
    } else if (!operands_only && c->word[0] == '-') {
        offer_options(c);
    } else if (commands_due(c) != 0 && c->help->n_commands > 0) {
        if (c->n_operands == 0) /* else it is no command of ours */
            offer_commands(c);
    } else {
        offer_operand(c);
    }
}

bool help_complete(const struct help *h, char *const words[], size_t n, FILE *to)
{
    struct completing c = {.help = h, .to = to, .command = h->n_commands};
    struct help_option option;
    bool operands_only = false;

    if (n == 0)
        return true;
    c.operand = calloc(n, sizeof *c.operand);
    if (!c.operand)
        return false;
    c.word = words[n - 1];
    if (take_words(&c, words, n, &option, &operands_only))
        offer_value(&c, &option);
    else
        offer_last(&c, operands_only);
    free(c.operand);
    return true;
}

/* -- scripts -------------------------------------------------------------------------------- */

/* ! is the program's name. Bash replaces only what stands behind the last = or : of a word. */
static const char bash_script[] =
    "# bash completion of !, by '! --completion bash'\n"
    "_kernbench_!()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word part='' current\n"
    "    local -a words\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:blank:]] ]] && words+=('')\n"
    "    current=${words[${#words[*]} - 1]}\n"
    "    [[ $COMP_WORDBREAKS == *=* ]] && part=${current%\"${current##*[=:]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r word _; do\n"
    "        case $word in\n"
    "        :files | :folders)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            [[ $word == :files ]] && word=-f || word=-d\n"
    "            while IFS= read -r word; do\n"
    "                COMPREPLY+=(\"$word\")\n"
    "            done < <(compgen $word -- \"${current##*=}\")\n"
    "            ;;\n"
    "        *)\n"
    "            [[ $word == *[=.:] ]] && compopt -o nospace 2>/dev/null\n"
    "            COMPREPLY+=(\"${word#\"$part\"}\")\n"
    "            ;;\n"
    "        esac\n"
    "    done < <(\"${words[0]/#\\~/$HOME}\" --complete \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _kernbench_! !\n";

static const char zsh_script[] =
    "#compdef !\n"
    "# zsh completion of !, by '! --completion zsh'\n"
    "_!()\n"
    "{\n"
    "    local line word what\n"
    "    local -a whole open\n"
    "    for line in \"${(@f)$(${~words[1]} --complete \"${(@)words[2,CURRENT-1]}\" \"$PREFIX\" "
    "2>/dev/null)}\"; do\n"
    "        word=${line%%$'\\t'*} what=''\n"
    "        [[ $line == *$'\\t'* ]] && what=:${line#*$'\\t'}\n"
    "        case $word in\n"
    "        ('') ;;\n"
    "        (:files | :folders)\n"
    "            [[ $PREFIX == --*=* ]] && compset -P '*='\n"
    "            [[ $word == :files ]] && _files || _files -/\n"
    "            ;;\n"
    "        (*[=.:]) open+=(\"${word//:/\\\\:}$what\") ;;\n"
    "        (*) whole+=(\"${word//:/\\\\:}$what\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#whole )) && _describe ! whole\n"
    "    (( $#open )) && _describe ! open -S ''\n"
    "}\n"
    "if [[ $funcstack[1] == _! ]]; then _! \"$@\"; else compdef _! !; fi\n";

static const char fish_script[] =
    "# fish completion of !, by '! --completion fish'\n"
    "function __kernbench_!\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    for line in ($words[1] --complete $words[2..-1] \"$current\" 2>/dev/null)\n"
    "        switch $line\n"
    "            case ':files'\n"
    "                __fish_complete_path \"$current\"\n"
    "            case ':folders'\n"
    "                __fish_complete_directories \"$current\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c ! -f -a '(__kernbench_!)'\n";

static void put_script(const struct help *h, const char *script, FILE *to)
{
    for (const char *p = script; *p; p++)
        if (*p == '!')
            fputs(h->program, to);
        else
            fputc(*p, to);
}

bool help_script(const struct help *h, const char *shell, FILE *to)
{
    static const struct help_entry scripts[] = {
        {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(shell, scripts[i].name) == 0) {
            put_script(h, scripts[i].text, to);
            return true;
        }
    return false;
}
