import type { ScreenKind } from '../state/ui-state.js';
import { compare } from './compare/comparison-reader.js';
import { gpus } from './gpus/gpus.js';
import { jobs } from './jobs/jobs.js';
import { logs } from './logs/logs-reader.js';
import { parameters } from './parameters/parameters-reader.js';
import { run } from './run/run-reader.js';
import type { ScreenEntry } from './screen.js';
import { sweep } from './sweep/sweep.js';

type Entries = { readonly [Kind in ScreenKind]: ScreenEntry<Kind, unknown> };

/** All screens. A new one needs its folder and its name here. A component only receives what the data of its own screen has read. */
export const screens = { jobs, run, compare, gpus, sweep, logs, parameters } as unknown as Entries;
