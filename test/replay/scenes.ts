import type { Scenes } from './scene.js';
import { cards } from './scenes/cards.js';
import { decisions } from './scenes/decisions.js';
import { endings } from './scenes/endings.js';
import { invoices } from './scenes/invoices.js';
import { lookedUp } from './scenes/looked-up.js';
import { prompt } from './scenes/prompt.js';
import { ramps } from './scenes/ramps.js';
import { rare } from './scenes/rare.js';
import { refunds } from './scenes/refunds.js';
import { stops } from './scenes/stops.js';
import { byEvents } from './scenes/by-events.js';
import { unknownOutcomes } from './scenes/unknown-outcomes.js';
import { watched } from './scenes/watched.js';

const bridge: Scenes = { ...endings, ...stops, ...unknownOutcomes, ...decisions, ...refunds };

/** The endings of every kind, and every wait and activity, at least once; those without a kind's name are the bridge's. */
export const scenes: Scenes = {
  ...bridge,
  ...lookedUp,
  ...ramps,
  ...byEvents,
  ...cards,
  ...invoices,
  ...watched,
  ...prompt,
  ...rare,
};
