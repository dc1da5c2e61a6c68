import { runFiles } from '../../contract/files.js';
import type { Entries } from '../run-folders.js';

/** What marks a folder as the folder of one run: everything below it belongs to that run. */
type RunKind = {
  readonly name: string;
  /** @param folder Name of the folder. */
  readonly marks: (entries: Pick<Entries, 'files' | 'folders'>, folder: string) => boolean;
};

/**
 * Writers that give each run a folder of a known shape. The first that fits counts. A folder of no known shape is a run where files
 * of metrics lie in it.
 */
export const runKinds: readonly RunKind[] = [
  { name: 'memrl-tui', marks: ({ files }) => files.includes(runFiles.record) },
  { name: 'Hydra', marks: ({ folders }) => folders.includes('.hydra') },
  {
    name: 'MLflow',
    marks: ({ files, folders }) =>
      files.includes('meta.yaml') && folders.includes('metrics') && folders.includes('params'),
  },
  { name: 'W&B', marks: ({ files }) => files.some((name) => /^run-.*\.wandb$/.test(name)) },
  { name: 'Lightning', marks: ({ files }, folder) => /^version_\d+$/.test(folder) && files.includes('hparams.yaml') },
  {
    name: 'Hugging Face',
    marks: ({ files, folders }) =>
      files.includes('trainer_state.json') || folders.some((name) => /^checkpoint-\d+$/.test(name)),
  },
];

/** Folders in which Keras, CatBoost and others keep the same metrics of parts of one run: `train` beside `validation`. */
const ofParts = /^(train|training|learn|validation|valid|val|evaluation|eval|test|dev)$/i;

/** Whether a folder of this name holds a part of the run that the folder around it is. */
export function isPartName(folder: string): boolean {
  return ofParts.test(folder);
}
