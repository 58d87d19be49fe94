/* help_complete.c -- completions of a command line, and the scripts by which shells ask for them.
 *
 * The scripts of all shells only call `PROGRAM --complete WORD...` and offer the lines that it
 * prints. So completions are decided here, once, from the table of options, and know the benches
 * and the sizes of this machine. For `cube8 sweep --src c0.p` the words are "sweep", "--src",
 * "c0.p":
 *
 *   take_words()    reads "sweep" as the command, and finds that the last word is the argument of
 * --src offer_value()   the argument is a list: skips to its last item, "c0.p" offer_named()
 * "PATTERN" is no word of a table: the program offers endpoints, "c0.pe"
 *
 * If the last word is not an argument, it may be "--option=value", an option, a command, or an
 * operand (offer_last()). `kept` counts the bytes before the part of a word that is completed.
 */
#include "base/help.h"
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 256 };

/* -- candidates ----------------------------------------------------------------------------- */

void usage_offer(struct completing *c, const char *text, const char *what)
{
    if (strncmp(text, c->word, strlen(c->word)) != 0)
        return;
    fwrite(c->word - c->kept, 1, c->kept, c->to);
    fputs(text, c->to);
    if (what)
        fprintf(c->to, "\t%s", what);
    fputc('\n', c->to);
}

void usage_offer_files(struct completing *c)
{
    fputs(":files\n", c->to);
}

/* Offers words that are separated by characters of `between`. */
static void offer_words(struct completing *c, const char *words)
{
    char word[WORD_BYTES];

    for (size_t n; *words; words += n + (words[n] != '\0')) {
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        usage_offer(c, word, NULL);
    }
}

static void offer_named(struct completing *c, const char *name);

/* Offers each of "a|B|c": words in small letters, names of values in capitals. */
static void offer_choices(struct completing *c, const char *choices)
{
    char choice[WORD_BYTES];

    for (size_t n; *choices; choices += n + (choices[n] != '\0')) {
        n = strcspn(choices, "|");
        snprintf(choice, sizeof choice, "%.*s", (int)n, choices);
        if (choice[0] >= 'A' && choice[0] <= 'Z')
            offer_named(c, choice);
        else
            usage_offer(c, choice, NULL);
    }
}

/* Offers the values of an operand or argument called `name`. */
static void offer_named(struct completing *c, const char *name)
{
    static const char *const files[] = {"FILE", "A", "B"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(name, files[i]) == 0) {
            usage_offer_files(c);
            return;
        }
    if (strcmp(name, "DIR") == 0)
        fputs(":folders\n", c->to);
    else if (strchr(name, '|'))
        offer_choices(c, name);
    else if (c->usage->offer)
        c->usage->offer(c, name);
}

/* Skips all but the last item of a list; commas in brackets belong to an item. */
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

/* Offers an argument without its brackets: "[ops]" is "ops". */
static void offer_bare(struct completing *c, const char *argument)
{
    char name[WORD_BYTES];

    snprintf(name, sizeof name, "%s", argument + 1);
    name[strcspn(name, "]")] = '\0';
    usage_offer(c, name, NULL);
}

static void offer_value(struct completing *c, const struct usage_option *o)
{
    if (o->argument && strcmp(o->argument, "LIST") == 0)
        skip_list(c);
    if (o->words && o->words[0] == '@')
        offer_named(c, o->words + 1);
    else if (o->words)
        offer_words(c, o->words);
    else if (usage_may_lack(o))
        offer_bare(c, o->argument);
    else if (o->argument)
        offer_named(c, o->argument);
}

/* -- options -------------------------------------------------------------------------------- */

static unsigned bits_of(const struct completing *c)
{
    return 1u << c->command;
}

static struct usage_option option_of(const struct completing *c, unsigned id)
{
    return c->usage->option(id,
                            c->command < c->usage->n_commands ? bits_of(c) : usage_all(c->usage));
}

/* Finds the option that `word` (`len` bytes) is. False: it is none. */
static bool find_option(const struct completing *c, const char *word, size_t len,
                        struct usage_option *out)
{
    for (unsigned i = 0; i < c->usage->n_options; i++) {
        *out = option_of(c, i);
        if (len == 2 && word[0] == '-' && word[1] == out->letter)
            return true;
        if (len > 2 && strncmp(word, "--", 2) == 0 && strlen(out->name) == len - 2 &&
            strncmp(word + 2, out->name, len - 2) == 0)
            return true;
    }
    return false;
}

/* Offers options; before the command is named, those of all commands. */
static void offer_options(struct completing *c)
{
    bool named = c->command < c->usage->n_commands || c->usage->n_commands == 0;
    char form[WORD_BYTES];

    for (unsigned i = 0; i < c->usage->n_options; i++) {
        struct usage_option o = option_of(c, i);

        if (named && !(o.commands & bits_of(c)))
            continue;
        snprintf(form, sizeof form, "--%s", o.name);
        usage_offer(c, form, o.help);
    }
}

/* -- operands ------------------------------------------------------------------------------- */

/* The commands that may come next, as bits: all, those that a command wraps, or none. */
static unsigned commands_due(const struct completing *c)
{
    const struct usage *u = c->usage;

    if (c->command == u->n_commands)
        return usage_all(u);
    return u->wrapped && c->command == u->wrapper ? u->wrapped : 0;
}

static void offer_commands(struct completing *c)
{
    for (unsigned i = 0; i < c->usage->n_commands; i++)
        if (commands_due(c) >> i & 1)
            usage_offer(c, c->usage->commands[i].name, c->usage->commands[i].summary);
}

/* Offers values of the next operand; there may be any number of "[NAME=VALUE]...". */
static void offer_operand(struct completing *c)
{
    const char *operands =
        c->usage->n_commands == 0 ? c->usage->operands : c->usage->commands[c->command].operands;
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
    for (unsigned i = 0; i < c->usage->n_commands; i++)
        if (commands_due(c) >> i & 1 && strcmp(word, c->usage->commands[i].name) == 0) {
            c->command = i;
            return;
        }
    c->operand[c->n_operands++] = word;
}

/* Reads all words but the last. True: the last one is the argument of *option. */
static bool take_words(struct completing *c, char *const words[], size_t n,
                       struct usage_option *option, bool *operands_only)
{
    struct usage_option o;

    for (size_t i = 0; i + 1 < n; i++) {
        if (*operands_only || words[i][0] != '-' || !words[i][1]) {
            take_operand(c, words[i]);
        } else if (strcmp(words[i], "--") == 0) {
            *operands_only = true;
        } else if (find_option(c, words[i], strlen(words[i]), &o) && o.argument &&
                   !usage_may_lack(&o) && ++i + 1 == n) {
            *option = o;
            return true;
        }
    }
    return false;
}

static void offer_last(struct completing *c, bool operands_only)
{
    size_t len = strcspn(c->word, "=");
    struct usage_option o;

    if (!operands_only && strncmp(c->word, "--", 2) == 0 && c->word[len] == '=') {
        if (!find_option(c, c->word, len, &o))
            return;
        c->word += len + 1;
        c->kept = len + 1;
        offer_value(c, &o);
    } else if (!operands_only && c->word[0] == '-') {
        offer_options(c);
    } else if (commands_due(c) != 0 && c->usage->n_commands > 0) {
        if (c->n_operands == 0) /* else the word is no command */
            offer_commands(c);
    } else {
        offer_operand(c);
    }
}

bool usage_complete(const struct usage *u, char *const words[], size_t n, FILE *to)
{
    struct completing c = {.usage = u, .to = to, .command = u->n_commands};
    struct usage_option option;
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

/* ! is the program's name. Bash replaces only the part of a word behind its last = or :. */
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

static void put_script(const struct usage *u, const char *script, FILE *to)
{
    for (const char *p = script; *p; p++)
        if (*p == '!')
            fputs(u->program, to);
        else
            fputc(*p, to);
}

bool usage_script(const struct usage *u, const char *shell, FILE *to)
{
    static const struct usage_entry scripts[] = {
        {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(shell, scripts[i].name) == 0) {
            put_script(u, scripts[i].text, to);
            return true;
        }
    return false;
}
