import { Box } from 'ink';
import { useCallback, useRef } from 'react';
import { ModelCanvas, useModel, useModelSource } from '../../model/use-model.js';
import type { OnDrag, OnHover, OnPoint, Place, Draw } from '../../surface/surface.js';
import { widened } from '../../widgets/run-list/list-columns.js';
import { pressedEdge } from '../../widgets/run-list/list-pane.js';
import type { ScreenProps } from '../screen.js';
import { drawDetail, drawList, drawRows, drawStrip, jobsLayout, ruleLine } from './jobs-lines.js';
import { Canvas } from '../../surface/ink-window.js';

/** The list of all runs with the selection's curve, parameters and log beside it, or the curve below it on a narrow terminal. */
export function JobsScreen({ size, isSmall }: ScreenProps) {
  const rows = useModel((model) => model.rows.length);
  const wanted = useModel((model) => model.ui.panes.list);
  const { list, strip, pane } = jobsLayout(size, { isSmall, rows, wanted });
  const source = useModelSource();
  const drag = useCallback<OnDrag>(
    ({ from, at, place }) => source.resizePane('list', place.left + at.column - from.column),
    [source],
  );
  return (
    <Box {...size} flexDirection={pane > 0 ? 'row' : 'column'}>
      <RunList width={list.width} height={list.height} hasHeading={!isSmall} />
      {pane > 0 && <Rule height={size.height} onDrag={drag} />}
      {pane > 0 && <ModelCanvas width={pane} height={size.height} draw={drawDetail} />}
      {strip > 0 && <ModelCanvas width={size.width} height={strip} draw={drawStrip} />}
    </Box>
  );
}

type RunListProps = { readonly width: number; readonly height: number; readonly hasHeading: boolean };

/** The tree of groups and runs. Drawn on a canvas, because it has thousands of rows and ten updates a second. */
function RunList({ hasHeading, ...size }: RunListProps) {
  const source = useModelSource();
  const point = useCallback<OnPoint>(
    ({ row, column }) => {
      if (hasHeading && row === 0) source.clickHeading(column, size.width);
      else source.clickRow(row - (hasHeading ? 1 : 0));
    },
    [source, hasHeading, size.width],
  );
  const hover = useCallback<OnHover>(
    (at) => source.hoverRow(at === null ? null : at.row - (hasHeading ? 1 : 0)),
    [source, hasHeading],
  );
  const drag = useColumnDrag(size.width);
  const draw = hasHeading ? drawList : drawRows;
  const onDrag = hasHeading ? drag : undefined;
  return <ModelCanvas {...size} flexShrink={0} draw={draw} onPoint={point} onHover={hover} onDrag={onDrag} />;
}

/** Drags the left edge of a column by the space before its heading. */
function useColumnDrag(width: number): OnDrag {
  const source = useModelSource();
  const pressed = useRef<{ from: Place; edge: ReturnType<typeof pressedEdge> }>(null);
  return useCallback(
    ({ from, at }) => {
      if (pressed.current?.from !== from) {
        pressed.current = { from, edge: from.row === 0 ? pressedEdge(source.model(), width, from.column) : null };
      }
      const { edge } = pressed.current;
      if (edge !== null) source.resizeColumns(widened(edge.layout, edge.id, from.column - at.column));
    },
    [source, width],
  );
}

type Props = { readonly height: number; readonly onDrag: OnDrag };

/** A vertical line between two panes, with a column of space on each side. */
function Rule({ height, onDrag }: Props) {
  return <Canvas width={3} height={height} flexShrink={0} draw={draw} onDrag={onDrag} />;
}

const draw: Draw = ({ height }) => Array.from({ length: height }, () => ruleLine);
