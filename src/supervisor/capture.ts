import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { sweepFiles } from '../contract/files.js';
import { GitRecord, MachineRecord } from '../contract/run-record.js';
import type { CodeState } from './code-state.js';
import { writeWhole } from './code-store.js';

/** What was found out at the submits of one sweep. `code`: by `codeKey`; the last submit wins. */
export type Capture = { machine: MachineRecord; code: Map<string, CodeState> };

const CaptureFile = z.object({
  version: z.literal(1),
  machine: MachineRecord,
  code: z.record(z.string(), z.object({ git: GitRecord.nullable(), packages: z.string().nullable() })),
});

/** What an earlier supervisor found out; null when nothing was, or it cannot be read. */
export function readCapture(sweepDirectory: string): Capture | null {
  try {
    const path = join(sweepDirectory, sweepFiles.code, sweepFiles.captured);
    const { machine, code } = CaptureFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    return { machine, code: new Map(Object.entries(code)) };
  } catch {
    return null;
  }
}

/** For the next supervisor: runs that it starts were submitted to this one. */
export function writeCapture(sweepDirectory: string, { machine, code }: Capture): void {
  const folder = join(sweepDirectory, sweepFiles.code);
  const file: z.infer<typeof CaptureFile> = { version: 1, machine, code: Object.fromEntries(code) };
  writeWhole(join(folder, sweepFiles.captured), folder, `${JSON.stringify(file, null, 2)}\n`);
}
