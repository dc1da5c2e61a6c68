import { arch, availableParallelism, cpus, release, totalmem, type, userInfo } from 'node:os';
import { join } from 'node:path';
import { version } from 'node:process';
import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { sweepFiles } from '../contract/files.js';
import { GitRecord, MachineRecord } from '../contract/run-record.js';
import { textOrNull } from '../files/regular-file.js';
import { type CodeState, writeCode } from './code-state.js';

/** The provenance of the submissions of one sweep. `code`: by `codeKey`; the last submission wins. */
export type Provenance = { machine: MachineRecord; code: Map<string, CodeState> };

const CaptureFile = z.object({
  version: z.literal(1),
  machine: MachineRecord,
  code: z.record(z.string(), z.object({ git: GitRecord.nullable(), packages: z.string().nullable() })),
});

/** Size limit in bytes: a few lines for each working directory and program. */
const LARGEST = 4 << 20;

/** The provenance that an earlier supervisor stored; null: there is none, or it is not readable. */
export function readProvenance(sweepDirectory: string): Provenance | null {
  const text = textOrNull(join(sweepDirectory, sweepFiles.code, sweepFiles.captured), LARGEST);
  if (text === null) return null;
  try {
    const { machine, code } = CaptureFile.parse(JSON.parse(text));
    return { machine, code: new Map(Object.entries(code)) };
  } catch {
    // It is incomplete, or of another version: the next submission determines it again.
    return null;
  }
}

/** Stores the provenance for the next supervisor, which may start runs that were submitted to this one. */
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

/** The name of the user, which need not exist in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
