import { basename, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { dvcliveFiles } from '../formats/dvclive.js';
import { isOfSacred } from '../formats/sacred.js';
import { isEvaluationSet, isTrainingSet } from '../formats/event-tags.js';
import { type Entries, statOf } from '../run-folders.js';
import { isOfGuild } from './guild.js';

/** What marks a folder as the folder of one run: everything below it belongs to that run. */
type RunKind = {
  readonly name: string;
  /** @param path Path of the folder. */
  readonly marks: (entries: Pick<Entries, 'files' | 'folders'>, path: string) => boolean;
};

/** Name of the kind of runs of this program. */
export const ownKind = 'memrl-tui';

/**
 * Writers that give each run a folder of a known shape. The first that fits counts. A folder of no known shape is a run where files
 * of metrics lie in it.
 */
export const runKinds: readonly RunKind[] = [
  { name: 'sacred', marks: ({ files }) => isOfSacred(files) },
  { name: ownKind, marks: ({ files }) => files.includes(runFiles.record) },
  { name: 'guild', marks: ({ folders }, path) => isOfGuild(folders, basename(path)) },
  {
    name: 'DVCLive',
    marks: ({ files, folders }, path) =>
      files.includes(dvcliveFiles.values) &&
      folders.includes('plots') &&
      statOf(join(path, dvcliveFiles.metrics))?.isDirectory() === true,
  },
  { name: 'Hydra', marks: ({ folders }) => folders.includes('.hydra') },
  {
    name: 'MLflow',
    marks: ({ files, folders }) =>
      files.includes('meta.yaml') && folders.includes('metrics') && folders.includes('params'),
  },
  { name: 'W&B', marks: ({ files }) => files.some((name) => /^run-.*\.wandb$/.test(name)) },
  {
    name: 'Lightning',
    marks: ({ files }, path) => /^version_\d+$/.test(basename(path)) && files.includes('hparams.yaml'),
  },
  {
    name: 'Hugging Face',
    marks: ({ files, folders }) =>
      files.includes('trainer_state.json') || folders.some((name) => /^checkpoint-\d+$/.test(name)),
  },
];

/** Whether a folder of this name holds a part of the run that the folder around it is: the metrics of one data set. */
export function isPartName(folder: string): boolean {
  return isTrainingSet(folder) || isEvaluationSet(folder);
}
