import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type Annotation, boundedAnnotation } from '../../base/annotation.js';
import { runFiles } from '../../contract/files.js';
import { WrittenFiles } from '../../contract/written-files.js';
import { textOrNull } from '../regular-file.js';
import { writeWhole } from '../whole-file.js';
import { ensureOwnDirectory } from './own-directory.js';

/** Size limit in bytes, with room for the longest note and all tags. */
const LARGEST = 64 << 10;

/** Loose, as a newer version may add a field, and the file may be written by hand. */
const AnnotationFile = z.looseObject({
  version: z.literal(1),
  starred: z.boolean().default(false),
  tags: z.array(z.string()).default([]),
  note: z.string().nullable().default(null),
});

/** The annotation of the run in `directory`; null: there is none, or it is not readable. */
export function readAnnotation(directory: string): Annotation | null {
  const text = textOrNull(join(directory, runFiles.annotation), LARGEST);
  if (text === null) return null;
  try {
    const parsed = AnnotationFile.safeParse(JSON.parse(text));
    return parsed.success ? boundedAnnotation(parsed.data) : null;
  } catch {
    // Not JSON: incomplete, or written by another program.
    return null;
  }
}

/**
 * Replaces the annotation of the run in `directory` atomically, and creates the directory if it is missing; null removes the file.
 * Only one process may write at a time: the supervisor.
 *
 * @throws The error of the operating system.
 */
export function writeAnnotation(directory: string, annotation: Annotation | null): void {
  const path = join(directory, runFiles.annotation);
  ensureOwnDirectory(directory);
  if (annotation === null) return rmSync(path, { force: true });
  writeWhole(path, `${JSON.stringify({ version: 1, ...annotation }, null, 2)}\n`);
}

/** Size limit in bytes, for some thousand files. */
const LARGEST_LIST = 1 << 20;

/** The files outside its directory that a run was found to write; null: unknown, or the file is not readable. */
export function readWrittenFiles(directory: string): WrittenFiles | null {
  const text = textOrNull(join(directory, runFiles.written), LARGEST_LIST);
  if (text === null) return null;
  try {
    const parsed = WrittenFiles.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // Not JSON: written by another program, or incomplete.
    return null;
  }
}

/**
 * Replaces the file atomically. Only one process may write at a time: the supervisor. @throws The error of the operating system.
 */
export function writeWrittenFiles(directory: string, written: WrittenFiles): void {
  ensureOwnDirectory(directory);
  writeWhole(join(directory, runFiles.written), `${JSON.stringify(written, null, 2)}\n`);
}
