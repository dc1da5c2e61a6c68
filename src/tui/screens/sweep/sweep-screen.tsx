import { type DrawModel, ModelCanvas, useWheel } from '../../model/use-model.js';
import type { ScreenProps } from '../screen-props.js';
import { sweepScreen } from './sweep-screen-lines.js';

export function SweepScreen({ size }: ScreenProps) {
  const wheel = useWheel();
  return <ModelCanvas {...size} draw={draw} onPoint={wheel} />;
}

const draw: DrawModel = (model, { width, height }) => sweepScreen(model, width, height);
