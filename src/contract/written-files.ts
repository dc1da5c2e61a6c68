import * as z from 'zod';

/** A file outside the directory of a run. `why`: what speaks for its being the run's, or against, in words. */
const FoundOutside = z.looseObject({ path: z.string(), why: z.string() });

/**
 * `written.json`: what the supervisor found a run to have written outside its directory. A file has one run; one that several
 * runs may have written has none. Written by the supervisor alone; loose, so newer fields survive. Paths are absolute.
 */
export const WrittenFiles = z.looseObject({
  version: z.literal(1),
  /** Its own. `attempt`: that wrote it first. */
  files: z.array(FoundOutside.extend({ attempt: z.int().nonnegative() })),
  /** Those that it may have written and that are not taken for its own. */
  refused: z.array(FoundOutside),
  /** Folders of `metrics.folders` that other runs have, too: of what is in them, only `files` are its own. */
  shared: z.array(z.string()),
  /** What to write into the sweep file so that there is no doubt; null: there is none. */
  fix: z.string().nullable(),
});
export type WrittenFiles = z.infer<typeof WrittenFiles>;

export const nothingWritten: WrittenFiles = { version: 1, files: [], refused: [], shared: [], fix: null };
