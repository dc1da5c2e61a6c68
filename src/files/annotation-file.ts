import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type Annotation, boundedAnnotation } from '../base/annotation.js';
import { runFiles } from '../contract/files.js';
import { textOrNull } from './regular-file.js';
import { writeWhole } from './whole-file.js';
import { makeFolder } from './make-folder.js';

/** Of the longest note with all its tags, with room to spare, bytes. */
const LARGEST = 64 << 10;

/** Loose: a newer version may add a field, and a person may have written it. */
const AnnotationFile = z.looseObject({
  version: z.literal(1),
  starred: z.boolean().default(false),
  tags: z.array(z.string()).default([]),
  note: z.string().nullable().default(null),
});

/** What a person has noted of the run in `directory`; null: nothing, or nothing that can be read. */
export function readAnnotation(directory: string): Annotation | null {
  const text = textOrNull(join(directory, runFiles.annotation), LARGEST);
  if (text === null) return null;
  try {
    const parsed = AnnotationFile.safeParse(JSON.parse(text));
    return parsed.success ? boundedAnnotation(parsed.data) : null;
  } catch {
    // No JSON: torn, or written by another program.
    return null;
  }
}

/**
 * Replaces what is noted of the run in `directory` in one step, and makes the directory if it is missing; null takes the
 * file away. One writer at a time: the supervisor.
 *
 * @throws What the system says.
 */
export function writeAnnotation(directory: string, annotation: Annotation | null): void {
  const path = join(directory, runFiles.annotation);
  if (annotation === null) return rmSync(path, { force: true });
  makeFolder(directory);
  writeWhole(path, `${JSON.stringify({ version: 1, ...annotation }, null, 2)}\n`);
}
