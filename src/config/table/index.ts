import { OIDC } from '../oidc.js';
import { COMMAND_LINE, TEMPORAL } from './elsewhere.js';
import { CALLERS, FOUR_EYES, LISTENERS } from './gateway.js';
import { DEVELOPMENT, NOTIFICATIONS, STATE, TRACES, WORKERS } from './operations.js';
import { INBOUND, SERVICE } from './service.js';
import type { Setting, SettingElsewhere } from './setting.js';

/*
 * A new setting is a row of one of these groups, and nothing else: its member of `Settings`, its `…_FILE`, whether it is
 * followed, and its row of docs/settings.md come from there.
 */

/** The settings with a member of `Settings` for each; those of OIDC and FOUR_EYES are one member together. */
export const SETTINGS = {
  ...SERVICE,
  ...INBOUND,
  ...LISTENERS,
  ...CALLERS,
  ...WORKERS,
  ...NOTIFICATIONS,
  ...TRACES,
  ...STATE,
  ...DEVELOPMENT,
};

interface Section {
  readonly heading: string;
  /** Before the table. */
  readonly intro?: string;
  readonly rows: readonly (Setting | SettingElsewhere)[];
}

/** docs/settings.md, in its order. */
export const SECTIONS: readonly Section[] = [
  { heading: 'The service', rows: Object.values(SERVICE) },
  { heading: 'What comes in', rows: Object.values(INBOUND) },
  { heading: 'The gateway', rows: [LISTENERS, OIDC, FOUR_EYES, CALLERS].flatMap((group) => Object.values(group)) },
  { heading: 'Workers', rows: Object.values(WORKERS) },
  {
    heading: 'Notifications',
    intro: 'One gateway or worker at a time sends notifications, so set the same for all.',
    rows: Object.values(NOTIFICATIONS),
  },
  { heading: 'Traces', rows: Object.values(TRACES) },
  { heading: 'State and keys', rows: Object.values(STATE) },
  { heading: 'Temporal', rows: TEMPORAL },
  { heading: 'The command line', rows: COMMAND_LINE },
  { heading: 'Development', rows: Object.values(DEVELOPMENT) },
];

const ROWS = SECTIONS.flatMap(({ rows }) => rows);

export const SETTING_NAMES: ReadonlySet<string> = new Set(ROWS.map(({ name }) => name));

/** The settings that are secrets. Each may be a file instead, by its name and `_FILE`. */
export const SECRET_SETTINGS: ReadonlyMap<string, 'one' | 'list'> = new Map(
  ROWS.flatMap(({ name, secret }) => (secret === undefined ? [] : [[name, secret]])),
);
