import type { ActCommand } from '../state/command.js';
import { cloneRun, copyCommand, extendSweep, openShell } from './editor-handler.js';
import { drainGpu, fewerSlots, moreSlots } from '../screens/gpus/machine-handler.js';
import { openPalette } from '../dialogs/palette.js';
import { handleRunVerbs } from './run-verb-handler.js';
import type { Handler } from './key-context.js';

export const handleAct: Record<ActCommand, Handler> = {
  ...handleRunVerbs,
  extend: extendSweep,
  clone: cloneRun,
  'more-slots': moreSlots,
  'fewer-slots': fewerSlots,
  drain: drainGpu,
  copy: copyCommand,
  shell: openShell,
  palette: openPalette,
};
