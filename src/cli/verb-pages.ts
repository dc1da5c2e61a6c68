/** The manual page of `memrl-tui`, from the tables that its help is made of. */
import type * as z from 'zod';
import { exitRows } from './answers/exit-codes.js';
import { headings, queryHelp, type Verb, type VerbOption } from './verb.js';
import { launchOptions } from './verb-options.js';
import { verbs } from './verb-table.js';
import { toolsOf } from './mcp/tools.js';

const description = `Turns a sweep file into training runs of any command, on the GPUs or CPU slots of this machine or on Slurm. A supervisor in the
background owns the runs: they go on when the terminal is closed, and the next command finds them again.`;

/** In roff, for man(1). */
export function manualPage(): string {
  const sections = headings.map((heading) => {
    const own = verbs.filter((verb) => verb.heading === heading);
    return section(heading, own.map(verbEntry).join(''));
  });
  return [
    '.TH MEMRL\\-TUI 1\n',
    section('Name', 'memrl\\-tui \\- run sweeps, watch them learn, act on what you see\n'),
    section(
      'Synopsis',
      '.B memrl\\-tui\n.I SWEEP.yaml\n.RI [ option ...]\n.br\n.B memrl\\-tui\n.I verb\n.RI [ argument ...]\n',
    ),
    section('Description', plain(description)),
    section('Options of a launch', launchOptions.map(optionEntry).join('')),
    ...sections,
    section('Queries', `.nf\n${plain(queryHelp.trim())}.fi\n`),
    section('Exit status', exitRows.map(({ code, means }) => entry(String(code), means)).join('')),
    section(
      'Files',
      [
        entry('runs/SWEEP/RUN/', 'what a run is and wrote; output.log has all that it printed'),
        entry('runs/.supervisor/log', 'what the supervisor did'),
        entry('~/.config/memrl-tui/', 'preferences of the window'),
      ].join(''),
    ),
    section('See also', 'The documentation in the folder docs of the package; memrl \-\-help\n'),
  ].join('');
}

function verbEntry({ name, takes, behind = '', takesCommand, about, options }: Verb): string {
  const words = [name, takes, behind, takesCommand ? '-- <command...>' : ''].filter((word) => word !== '').join(' ');
  const launches = launchOptions.every((option) => options.includes(option));
  const own = launches ? options.filter((option) => !launchOptions.includes(option)) : options;
  const inner = own.length === 0 ? '' : `.RS\n${own.map(optionEntry).join('')}.RE\n`;
  return `${entry(words, launches ? `${about}; takes all options of a launch` : about)}${inner}`;
}

function optionEntry({ flags, about }: VerbOption): string {
  return entry(flags, about);
}

function section(title: string, body: string): string {
  return `.SH ${title.toUpperCase()}\n${body}`;
}

function entry(term: string, about: string): string {
  return `.TP\n.B ${escaped(term)}\n${plain(about)}`;
}

/** A line that begins with a point or an apostrophe would be a request. */
function plain(text: string): string {
  return `${escaped(text)
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')}\n`;
}

/** Characters beyond ASCII by their numbers, as not every formatter takes UTF-8. */
function escaped(text: string): string {
  const special = (character: string) =>
    `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\n -~]/gu, special);
}

/** The verbs as a table for the README. */
export function verbTableMarkdown(): string {
  const lines = headings.flatMap((heading) => verbs.filter((verb) => verb.heading === heading)).map(row);
  return ['| command | does |', '| --- | --- |', ...lines].join('\n');
}

function row({ name, takes, behind, takesCommand, about, options }: Verb): string {
  const launches = launchOptions.every((option) => options.includes(option));
  const own = launches ? options.filter((option) => !launchOptions.includes(option)) : options;
  const taken = takes
    .toUpperCase()
    .replace(/<([^>]*)>/g, '$1')
    .replaceAll('...', '…');
  const words = behind === undefined ? taken : `${taken} ${behind}`;
  const flags = own.filter(({ flags }) => !/^--(runs|host)/.test(flags)).map(({ flags }) => `\`${flags}\``);
  const usage = `\`memrl-tui ${name}${words === '' ? '' : ` ${words}`}${takesCommand ? ' -- COMMAND…' : ''}\``;
  const more = [...flags, ...(launches ? ['and all options of a launch'] : [])];
  return `| ${usage} | ${about}${more.length === 0 ? '' : ` (${more.join(', ')})`} |`;
}

/** Every tool as Markdown: what it is called with, and what for. */
export function toolTableMarkdown(): string {
  const rows = toolsOf(verbs, '').map(({ name, about, input, acts }) => {
    const fields = Object.entries(input.shape as Readonly<Record<string, z.ZodType>>).map(([field, schema]) =>
      schema.safeParse(undefined).success ? `\`${field}\`` : `**\`${field}\`**`,
    );
    const does = acts === null ? 'looks' : acts.isFinal ? 'acts, for good' : 'acts';
    return `| \`${name}\` | ${does} | ${fields.join(', ')} | ${about.replaceAll('|', String.raw`\|`)} |`;
  });
  return ['| tool | | parameters | |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
