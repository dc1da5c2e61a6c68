import type { AnnotationChange } from '../../base/annotation.js';
import type { RequestedSlots } from '../../client/fleet.js';
import type { PlainVerb } from '../../protocol/run-verbs.js';
import type { RunId, RunSummary } from './port.js';
import type { WindowPreferences } from './preferences-port.js';

/** What must be done outside the state of the window because of a key. */
export type Effect = FleetEffect | WindowEffect;

/** A request to the supervisor. */
export type FleetEffect =
  | RunEffect
  /** `doing`: what is being done, and to which runs, in words. */
  | {
      readonly type: 'annotate';
      readonly ids: readonly RunId[];
      readonly change: AnnotationChange;
      readonly doing: string;
    }
  /** Adds CPU slots to the present number, or to that of earlier requests still under way. */
  | { readonly type: 'more-slots'; readonly by: number }
  | { readonly type: 'set-slots'; readonly wish: RequestedSlots }
  | { readonly type: 'drain'; readonly gpus: readonly number[]; readonly drained: boolean }
  | { readonly type: 'stop-sweep'; readonly sweep: string };

/** A run verb. `what`: the runs, in words; `undo`: what would undo it, in words. */
export type RunEffect =
  | { readonly type: PlainVerb; readonly ids: readonly RunId[]; readonly what: string; readonly undo?: string }
  | { readonly type: 'priority'; readonly ids: readonly RunId[]; readonly what: string; readonly priority: number }
  | { readonly type: 'type'; readonly ids: readonly RunId[]; readonly what: string; readonly text: string };

/** A request to the window itself. */
export type WindowEffect =
  | { readonly type: 'leave' }
  | { readonly type: 'repaint' }
  | { readonly type: 'suspend' }
  | { readonly type: 'ring' }
  | EditorEffect;

/** A request that needs other programs, the clipboard or the sweep file. */
export type EditorEffect =
  | { readonly type: 'copy' | 'clone'; readonly run: RunSummary }
  /** Shows the terminal of a run. */
  | { readonly type: 'terminal'; readonly run: RunSummary }
  /** Opens a shell in a directory. */
  | { readonly type: 'shell'; readonly directory: string; readonly what: string }
  | { readonly type: 'extend'; readonly sweep: string }
  /** Decides about the draft under review. */
  | { readonly type: 'submit-draft' | 'edit-draft' | 'drop-draft' | 'write-draft' | 'leave-draft' }
  | { readonly type: 'prefer'; readonly change: Partial<Omit<WindowPreferences, 'panes' | 'bindings'>> };
