import type * as z from 'zod';
import { verbs } from '../verb-table.js';
import { toolsOf } from './tools.js';

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
