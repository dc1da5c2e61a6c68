import * as z from 'zod';

/**
 * The evidence that a file belongs to a run. `open`: a process of the run had it open for writing. `name`: its name contains the
 * pid of a process of the run. `argument`: no other run's command names it, or a folder that contains it. `folder`: it is in a
 * folder that only this run uses. `alone`: no other run was up when it appeared.
 */
export const Evidence = z.enum(['open', 'name', 'argument', 'folder', 'alone']);
export type Evidence = z.infer<typeof Evidence>;

/** A file outside the directory of a run. `why`: the reason why it is taken for the run's, or is not, in words. */
const FoundOutside = z.looseObject({ path: z.string(), why: z.string() });

/**
 * `written.json`: the files outside its directory that a run wrote, as far as the supervisor found them. A file belongs to one run
 * at most; one that several runs may have written belongs to none. Only the supervisor writes it; loose, so newer fields survive.
 * Paths are absolute.
 */
export const WrittenFiles = z.looseObject({
  version: z.literal(1),
  /** The run's files. `attempt`: the first attempt that wrote the file. */
  files: z.array(FoundOutside.extend({ by: Evidence, attempt: z.int().nonnegative() })),
  /** Files that the run may have written, but that are not attributed to it. */
  refused: z.array(FoundOutside),
  /** Folders of `metrics.folders` that other runs use too: only those of their files that are in `files` belong to this run. */
  shared: z.array(z.string()),
  /** What the user should know about these files, on one line, and what to write into the sweep file; null: there is no doubt. */
  warning: z.string().nullable(),
  /** Names of the curves of the file that is not read: where the run has them from elsewhere, nobody needs the warning. */
  curves: z.array(z.string()).optional(),
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
