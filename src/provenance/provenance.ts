import { arch, availableParallelism, cpus, release, totalmem, type, userInfo } from 'node:os';
import { join } from 'node:path';
import { version } from 'node:process';
import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { sweepFiles } from '../contract/files.js';
import { GitRecord, MachineRecord } from '../contract/run-record.js';
import { textOrNull } from '../files/regular-file.js';
import { type CodeState, writeCode } from './code-state.js';

/** What was found out at the submits of one sweep. `code`: by `codeKey`; the last submit wins. */
export type Provenance = { machine: MachineRecord; code: Map<string, CodeState> };

const CaptureFile = z.object({
  version: z.literal(1),
  machine: MachineRecord,
  code: z.record(z.string(), z.object({ git: GitRecord.nullable(), packages: z.string().nullable() })),
});

/** A few lines for each working directory and program, bytes. */
const LARGEST = 4 << 20;

/** What an earlier supervisor found out; null when nothing was, or it cannot be read. */
export function readProvenance(sweepDirectory: string): Provenance | null {
  const text = textOrNull(join(sweepDirectory, sweepFiles.code, sweepFiles.captured), LARGEST);
  if (text === null) return null;
  try {
    const { machine, code } = CaptureFile.parse(JSON.parse(text));
    return { machine, code: new Map(Object.entries(code)) };
  } catch {
    // Torn, or of another version: it is found out again at the next submit.
    return null;
  }
}

/** For the next supervisor: runs that it starts were submitted to this one. */
export function writeProvenance(sweepDirectory: string, { machine, code }: Provenance): void {
  const file: z.infer<typeof CaptureFile> = { version: 1, machine, code: Object.fromEntries(code) };
  writeCode(sweepDirectory, sweepFiles.captured, `${JSON.stringify(file, null, 2)}\n`);
}

/** This machine, as `run.json` describes it. `gpus`: their names. Takes 1 ms. */
export function machineRecord(gpus: readonly string[]): MachineRecord {
  return {
    os: `${type()} ${release()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 20),
    gpus: [...gpus],
    node: version,
    memrlTui: packageJson.version,
    user: userName(),
  };
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
