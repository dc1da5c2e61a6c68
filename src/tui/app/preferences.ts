import * as z from 'zod';
import type { PreferencesFile } from '../../files/preferences.js';
import { guideChoices } from '../state/chart-choice.js';
import { type GroupBy, type Grouping, isColumnId, type Sort, type SortBy } from '../state/list-choice.js';
import {
  graphicsChoices,
  keyPresets,
  type PaneSizes,
  type PreferencesPort,
  type SweepPreferences,
  themeNames,
  type WindowPreferences,
} from '../state/preferences-port.js';

const GroupBy: z.ZodType<GroupBy> = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['group', 'state', 'gpu', 'error', 'none']) }),
  z.object({ kind: z.literal('parameter'), key: z.string() }),
]);
/** Older preferences use `block` for what is now `group`. */
const SavedLevel = z.union([
  z.object({ kind: z.literal('block') }).transform((): GroupBy => ({ kind: 'group' })),
  GroupBy,
]);
const Grouping: z.ZodType<Grouping> = z.union([z.tuple([SavedLevel]), z.tuple([SavedLevel, SavedLevel])]);
const SortBy = z.custom<SortBy>((by) => typeof by === 'string' && isSortBy(by));
const Sort: z.ZodType<Sort> = z.object({ by: SortBy, isReversed: z.boolean() });
const View = z.object({
  filter: z.string(),
  grouping: Grouping,
  sort: Sort,
  metric: z.string().nullable(),
  columns: z.array(z.string()).nullable(),
});
/** Views written by a newer program are skipped; the others are kept. */
const NamedView = View.extend({ name: z.string() });
const Views = z.array(z.unknown()).transform((views) => views.flatMap((view) => NamedView.safeParse(view).data ?? []));
const SweepPart: z.ZodType<SweepPreferences> = z.object({ views: Views.catch([]), last: View.nullable().catch(null) });

function isSortBy(by: string): boolean {
  return ['file order', 'state', 'name'].includes(by) || (isColumnId(by) && by !== 'trend');
}

const PaneLength = z.number().int().positive().nullable();
/** Earlier versions did not have widths of columns. */
const ColumnWidths = z.record(z.string(), z.number().int().positive()).default({});
const Panes: z.ZodType<PaneSizes> = z.object({ list: PaneLength, charts: PaneLength, columns: ColumnWidths });

/** The allowed values of each preference, and their description for the user. */
const parts = {
  theme: { schema: z.enum(themeNames).nullable(), may: `one of ${themeNames.join(', ')}` },
  keys: { schema: z.enum(keyPresets), may: `one of ${keyPresets.join(', ')}` },
  bindings: {
    schema: z.record(z.string(), z.union([z.string(), z.array(z.string()).min(1)])),
    may: 'a map from commands to keys, such as {"kill": "x", "hold": ["f", "ctrl-h"]}',
  },
  mouse: { schema: z.boolean(), may: 'true or false' },
  hover: { schema: z.boolean(), may: 'true or false' },
  guides: { schema: z.enum(guideChoices), may: `one of ${guideChoices.join(', ')}` },
  graphics: { schema: z.enum(graphicsChoices), may: `one of ${graphicsChoices.join(', ')}` },
  panes: {
    schema: z.record(z.string(), Panes),
    may: 'sizes of panes, such as {"120x36": {"list": 60, "charts": null}}',
  },
};
const initial: WindowPreferences = {
  theme: null,
  keys: 'default',
  bindings: {},
  mouse: true,
  hover: true,
  guides: 'none',
  graphics: 'auto',
  panes: {},
};
const nothing: SweepPreferences = { views: [], last: null };

type File = Pick<PreferencesFile, 'values' | 'path' | 'problem' | 'change'>;

/** The preferences in a file. Invalid values are ignored and reported as a problem. */
export function preferencesIn(file: File): PreferencesPort {
  return {
    get theme() {
      return valueOf(file, 'theme');
    },
    get keys() {
      return valueOf(file, 'keys');
    },
    get bindings() {
      return valueOf(file, 'bindings');
    },
    get mouse() {
      return valueOf(file, 'mouse');
    },
    get hover() {
      return valueOf(file, 'hover');
    },
    get guides() {
      return valueOf(file, 'guides');
    },
    get graphics() {
      return valueOf(file, 'graphics');
    },
    get panes() {
      return valueOf(file, 'panes');
    },
    problem: file.problem ?? strayPreference(file),
    ofSweep: (sweep) => SweepPart.safeParse(sweepsIn(file.values)[sweep]).data ?? nothing,
    keep: (change) => file.change((values) => ({ ...values, ...change })),
    keepSweep: (sweep, preferences) =>
      file.change((values) => ({ ...values, sweeps: { ...sweepsIn(values), [sweep]: preferences } })),
  };
}

/** Preferences that are not stored; choices last until the window is closed. */
export function passingPreferences(): PreferencesPort {
  let values: File['values'] = {};
  return preferencesIn({
    get values() {
      return values;
    },
    ...{ path: '', problem: null },
    change: (edit) => {
      values = edit(values);
      return Promise.resolve(null);
    },
  });
}

function valueOf<Key extends keyof WindowPreferences>(
  { values }: Pick<File, 'values'>,
  key: Key,
): WindowPreferences[Key] {
  const { success, data } = parts[key].schema.safeParse(values[key]);
  return success ? (data as WindowPreferences[Key]) : initial[key];
}

/** The first invalid value, reported in a sentence; null: all are valid. */
export function strayPreference({ values, path }: Pick<File, 'values' | 'path'>): string | null {
  for (const [key, { schema, may }] of Object.entries(parts)) {
    const value = values[key];
    if (value === undefined || schema.safeParse(value).success) continue;
    return `${key} in ${path} is ${JSON.stringify(value)}, which is not ${may}; it is ignored.`;
  }
  return null;
}

function sweepsIn({ sweeps }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return typeof sweeps === 'object' && sweeps !== null && !Array.isArray(sweeps)
    ? (sweeps as Record<string, unknown>)
    : {};
}
