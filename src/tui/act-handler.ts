import type { ActCommand } from './command.js';
import { cloneRun, copyCommand, extendSweep, openShell } from './editor-handler.js';
import { drainGpu, fewerSlots, moreSlots } from './machine-handler.js';
import { askKill, askKillGroup, resume, resumeGroup } from './effect-handler.js';
import { openPalette } from './palette-handler.js';
import { toggleGroupHold, toggleGroupPause, toggleHold, togglePause } from './toggle-handler.js';
import type { Handler } from './key-context.js';

export const handleAct: Record<ActCommand, Handler> = {
  kill: askKill,
  'kill-group': askKillGroup,
  resume,
  'resume-group': resumeGroup,
  hold: toggleHold,
  'hold-group': toggleGroupHold,
  pause: togglePause,
  'pause-group': toggleGroupPause,
  extend: extendSweep,
  clone: cloneRun,
  'more-slots': moreSlots,
  'fewer-slots': fewerSlots,
  drain: drainGpu,
  copy: copyCommand,
  shell: openShell,
  palette: openPalette,
};
