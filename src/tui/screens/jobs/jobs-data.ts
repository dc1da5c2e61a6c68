import { wantedFor } from '../../model/detail.js';
import type { ScreenData } from '../screen.js';
import { listBoundary, listPage } from './layout.js';

/** Number of log lines beside the list. */
export const logLines = 200;

/** The list has no data of its own beyond the window's. */
export function jobsData(): ScreenData<'jobs', null> {
  return {
    wanted: ({ node, scene }) => wantedFor(node, scene, logLines),
    read: () => null,
    context: ({ body, isSmall, scene, ui }) => {
      const content = { isSmall, rows: scene.rows.length, wanted: ui.panes.list };
      return { page: listPage(body, content), boundary: listBoundary(body, content) };
    },
  };
}
