import { UserError } from '../../base/user-error.js';
import { looksOnly, looksOnlyFix } from '../../protocol/message.js';
import type { EditorPort } from '../../tui/state/editor-port.js';

/** The editor of a window that only looks: the command of a run can be copied; a shell or an editor could change something. */
export function readOnlyEditor(port: EditorPort): EditorPort {
  return {
    get loading() {
      return port.loading ?? null;
    },
    commandOf: (run) => port.commandOf(run),
    ...{ openShell: refuse, openTerminal: refuse, extend: refuse, clone: refuse, edit: refuse, submit: refuse },
    ...{ ownFile: refuse, writeOwnFile: refuse },
  };
}

function refuse(): never {
  throw new UserError(looksOnly, looksOnlyFix);
}
