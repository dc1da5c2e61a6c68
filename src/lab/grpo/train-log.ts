import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunDirectory } from '../run/run-directory.js';
import type { World } from '../run/world.js';

/** The file that small-rl's users grep in: `grep '\[Sample @' train.log`. */
export const trainLogFile = 'train.log';

/** The same world, whose lines go to `train.log` as well. Each is appended by one write: attempts follow each other there. */
export function withTrainLog<W extends Pick<World, 'log'>>(world: W, directory: RunDirectory): W {
  const path = join(directory.path, trainLogFile);
  const log = (line: string) => {
    world.log(line);
    appendFileSync(path, `${line}\n`);
  };
  return { ...world, log };
}

/** @param steps Optimizer steps taken when the completion was learnt from. */
export function sampleLine(steps: number, sample: { readonly prompt: string; readonly text: string }): string {
  const oneLine = (text: string) => text.replace(/\s+/g, ' ');
  return `[Sample @ step ${steps}] ${oneLine(sample.prompt)} ||| ${oneLine(sample.text)}`;
}
