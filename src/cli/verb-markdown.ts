import type * as z from 'zod';
import { toolsOf } from './mcp/tools.js';
import { launchOptions } from './verb-options.js';
import { verbs } from './verb-table.js';
import { headings, type Verb } from './verb.js';

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
