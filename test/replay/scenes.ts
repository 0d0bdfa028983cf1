import type { Scenes } from './scene.js';
import { decisions } from './scenes/decisions.js';
import { endings } from './scenes/endings.js';
import { refunds } from './scenes/refunds.js';
import { stops } from './scenes/stops.js';
import { unknownOutcomes } from './scenes/unknown-outcomes.js';

/** Every ending, every wait and every activity of a bridge transfer, at least once. */
export const scenes: Scenes = { ...endings, ...stops, ...unknownOutcomes, ...decisions, ...refunds };
