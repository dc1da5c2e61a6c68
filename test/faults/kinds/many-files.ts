import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { maskedCrc32c } from '../../../src/contract/crc32c.js';
import { waitFor } from '../../supervisor/testbed.js';
import type { Trial } from '../kind.js';
import { idOf, type Scene } from '../scene.js';
import { codeWrong, typed } from './typed.js';

/** Files of one format, by number. `isCut`: there are more of them than are read of one run. */
type Crowd = { format: string; isCut: boolean; file: (index: number) => { place: string; content: string | Buffer } };

const crowds: readonly Crowd[] = [
  {
    ...{ format: 'JSON lines', isCut: true },
    file: (n) => ({ place: `rollouts/step_${n}.jsonl`, content: `{"step": ${n}, "reward": 0.5}\n`.repeat(2) }),
  },
  { format: 'CSV', isCut: true, file: (n) => ({ place: `eval_${n}.csv`, content: `step,accuracy\n${n},0.5\n` }) },
  {
    ...{ format: 'monitor', isCut: true },
    file: (n) => ({ place: `${n}.monitor.csv`, content: `#{"t_start": 1.5}\nr,l,t\n1.0,10,${n}.5\n` }),
  },
  {
    ...{ format: 'TensorBoard', isCut: true },
    file: (n) => ({ place: `events.out.tfevents.${1_700_000_000 + n}.host.${n}.0`, content: scalarEvent(n) }),
  },
  { format: 'SQLite', isCut: true, file: (n) => ({ place: `${n}.db`, content: 'SQLite format 3\0' }) },
  {
    ...{ format: 'W&B', isCut: true },
    file: (n) => ({ place: `wandb/run-20260101_000000-a${n}/run-a${n}.wandb`, content: ':W&B' }),
  },
  {
    ...{ format: 'trainer state', isCut: false },
    file: (n) => ({
      place: `checkpoint-${n}/trainer_state.json`,
      content: `{"log_history": [{"step": ${n}, "loss": 1}]}`,
    }),
  },
];

/** Runs whose directories have so many files of each format: nobody waits until they have been read, and what is left out is said. */
export function crowded(files: number): Trial {
  return {
    name: `${files} files of each format`,
    why: () => null,
    undergo: async (scene) => {
      const made = crowds.map((crowd, place) => ({ ...crowd, ...populated(scene, { crowd, place, files }) }));
      const wrong = codeWrong('status, beside many files,', await typed(scene, ['status', 'ordeal', '--json']));
      const isSaid = (id: string) =>
        [...scene.fleet.runs.values()].find((run) => run.id === id)?.warning?.includes('metrics');
      for (const { format, isCut, id } of made) {
        if (!isCut) continue;
        const said = waitFor(`the row of a run with many files (${format})`, () => isSaid(id), 60_000);
        await said.catch((error: Error) => wrong.push(error.message));
      }
      for (const { folders } of made) for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      return wrong;
    },
  };
}

type Place = { crowd: Crowd; place: number; files: number };

/** Puts them into the directory of a run that is up. `folders`: all that was made there. */
function populated(scene: Scene, { crowd, place, files }: Place): { id: string; folders: Set<string> } {
  const run = scene.all.filter(({ kind }) => kind === 'steady')[place]!;
  const directory = scene.bed.path('ordeal', run.name);
  const folders = new Set<string>();
  for (let index = 0; index < files; index++) {
    const { place: path, content } = crowd.file(index);
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    folders.add(join(directory, path.split('/')[0]!));
  }
  return { id: idOf(run), folders };
}

/** A record with one event with one scalar, as torch writes it. */
function scalarEvent(step: number): Buffer {
  const tag = Buffer.from('\x0a\x04loss\x15\x00\x00\x80\x3f', 'latin1');
  const summary = Buffer.concat([Buffer.from([0x0a, tag.length]), tag]);
  const steps = Buffer.from([0x10, (step & 127) | 128, step >> 7]);
  const event = Buffer.concat([
    Buffer.from([0x09]),
    Buffer.alloc(8),
    steps,
    Buffer.from([0x2a, summary.length]),
    summary,
  ]);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(event.length, 0);
  head.writeUInt32LE(maskedCrc32c(head, 0, 8), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(maskedCrc32c(event, 0, event.length));
  return Buffer.concat([head, event, tail]);
}
