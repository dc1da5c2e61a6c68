import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { sweepFiles } from '../contract/files.js';
import { readIfThere } from '../files/run-record-file.js';

/** What a report takes from the sweep file: the order of the groups, their titles, and what to show. */
export type SweepOutline = {
  groups: { name: string; title: string | null; show: readonly string[] }[];
  show: readonly string[];
};

const Show = z
  .looseObject({ show: z.union([z.array(z.string()), z.string().transform((key) => [key])]).catch([]) })
  .transform(({ show }) => show)
  .catch([]);
const GroupText = z
  .looseObject({ title: z.string().nullable().catch(null), metrics: Show })
  .catch({ title: null, metrics: [] });
const SweepText = z.looseObject({ groups: z.record(z.string(), GroupText).catch({}), metrics: Show });

/**
 * Reads the sweep file kept beside the runs, as far as it goes: it was checked when it was submitted, and a report of
 * finished runs must not fail over it. A sweep of plain commands, or none, gives an empty outline.
 */
export function readOutline(sweepDirectory: string): SweepOutline {
  const parsed = SweepText.safeParse(parseYaml(readIfThere(join(sweepDirectory, sweepFiles.text)) ?? ''));
  if (!parsed.success) return { groups: [], show: [] };
  const groups = Object.entries(parsed.data.groups).map(([name, { title, metrics }]) => ({
    name,
    title,
    show: metrics,
  }));
  return { groups, show: parsed.data.metrics };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    return null;
  }
}
