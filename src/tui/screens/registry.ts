import type { ComponentType } from 'react';
import type { KeyRow, KeyTable } from '../keys/key-row.js';
import type { ScreenKind } from '../state/ui-state.js';
import { ComparisonReader } from './compare/comparison-reader.js';
import { compareKeys } from './compare/keys.js';
import { gpuData } from './gpus/gpu-data.js';
import { gpuKeys, gpuOpener } from './gpus/keys.js';
import { jobsData } from './jobs/jobs-data.js';
import { jobsKeys } from './jobs/keys.js';
import { logsKeys, logsOpener } from './logs/keys.js';
import { LogsReader } from './logs/logs-reader.js';
import { parametersKeys, parametersOpener } from './parameters/keys.js';
import { ParametersReader } from './parameters/parameters-reader.js';
import { runKeys } from './run/keys.js';
import { runData } from './run/run-data.js';
import type { ScreenData, ScreenProps, ScreenTools } from './screen.js';
import { sweepKeys, sweepOpener } from './sweep/keys.js';
import { SweepOverviewReader } from './sweep/sweep-overview-reader.js';

type ScreenEntry<Kind extends ScreenKind, Value> = {
  /** The name of the screen in the documentation. */
  readonly name: string;
  readonly keys: KeyTable;
  /** The key that shows it from every other screen. A screen without one is opened from the selection. */
  readonly opener?: KeyRow;
  readonly data: (tools: ScreenTools) => ScreenData<Kind, Value>;
  /** Loads the component after the first picture, with Ink and React. */
  readonly component: () => Promise<ComponentType<ScreenProps<Value>>>;
};
type AnyScreen<Kind extends ScreenKind> = ScreenEntry<Kind, unknown>;

/** Erases the type of the data: a component only receives what the data of its own screen has read. */
function screen<Kind extends ScreenKind, Value>(entry: ScreenEntry<Kind, Value>): AnyScreen<Kind> {
  return entry as unknown as AnyScreen<Kind>;
}

/** All screens. A new one needs a folder, its state in `UiState`, and a line here. */
export const screens: { readonly [Kind in ScreenKind]: AnyScreen<Kind> } = {
  jobs: screen({
    ...{ name: 'list', keys: jobsKeys, data: jobsData },
    component: () => import('./jobs/jobs-screen.js').then(({ JobsScreen }) => JobsScreen),
  }),
  run: screen({
    ...{ name: 'run', keys: runKeys, data: runData },
    component: () => import('./run/run-screen.js').then(({ RunScreen }) => RunScreen),
  }),
  compare: screen({
    ...{ name: 'compare', keys: compareKeys, data: () => new ComparisonReader() },
    component: () => import('./compare/compare-screen.js').then(({ CompareScreen }) => CompareScreen),
  }),
  gpus: screen({
    ...{ name: 'GPUs', keys: gpuKeys, opener: gpuOpener, data: gpuData },
    component: () => import('./gpus/gpu-screen.js').then(({ GpuScreen }) => GpuScreen),
  }),
  sweep: screen({
    ...{ name: 'sweep', keys: sweepKeys, opener: sweepOpener, data: (tools) => new SweepOverviewReader(tools) },
    component: () => import('./sweep/sweep-screen.js').then(({ SweepScreen }) => SweepScreen),
  }),
  logs: screen({
    ...{ name: 'logs', keys: logsKeys, opener: logsOpener, data: (tools) => new LogsReader(tools) },
    component: () => import('./logs/logs-screen.js').then(({ LogsScreen }) => LogsScreen),
  }),
  parameters: screen({
    ...{
      name: 'parameters',
      keys: parametersKeys,
      opener: parametersOpener,
      data: (tools) => new ParametersReader(tools),
    },
    component: () => import('./parameters/parameters-screen.js').then(({ ParametersScreen }) => ParametersScreen),
  }),
};
