import type { Scene } from './scene.js';
import { bridgeScenes } from './scenes/bridge.js';
import { payInScenes } from './scenes/pay-in.js';
import { payOutScenes } from './scenes/pay-out.js';
import { watchScenes } from './scenes/watches.js';

/** The demo: one flow of every kind at least, and what goes wrong with them. A new scene is one entry in its file. */
export const SCENES: readonly Scene[] = [...bridgeScenes, ...payInScenes, ...payOutScenes, ...watchScenes];
