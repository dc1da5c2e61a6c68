import * as z from 'zod';

/**
 * By what a file is known to be a run's. `open`: a process of the run had it open for writing. `name`: its name has the number of
 * a process of the run. `argument`: only the run's command
 * names it, or a folder it is in. `folder`: it lies in a folder of the run's own. `alone`: nothing else ran where it appeared.
 */
export const Evidence = z.enum(['open', 'name', 'argument', 'folder', 'alone']);
export type Evidence = z.infer<typeof Evidence>;

/** A file outside the directory of a run. `why`: what speaks for its being the run's, or against, in words. */
const FoundOutside = z.looseObject({ path: z.string(), why: z.string() });

/**
 * `written.json`: what the supervisor found a run to have written outside its directory. A file has one run; one that several
 * runs may have written has none. Written by the supervisor alone; loose, so newer fields survive. Paths are absolute.
 */
export const WrittenFiles = z.looseObject({
  version: z.literal(1),
  /** Its own. `attempt`: that wrote it first. */
  files: z.array(FoundOutside.extend({ by: Evidence, attempt: z.int().nonnegative() })),
  /** Those that it may have written and that are not taken for its own. */
  refused: z.array(FoundOutside),
  /** Folders of `metrics.folders` that other runs have, too: of what is in them, only `files` are its own. */
  shared: z.array(z.string()),
  /** What a person should know of them, on one line, and what to write into the sweep file; null: there is no doubt. */
  warning: z.string().nullable(),
  fix: z.string().nullable(),
});
export type WrittenFiles = z.infer<typeof WrittenFiles>;

export const nothingWritten: WrittenFiles = {
  version: 1,
  files: [],
  refused: [],
  shared: [],
  warning: null,
  fix: null,
};
