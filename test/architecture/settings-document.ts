import { z } from 'zod';
import { SECRET_SETTINGS, SECTIONS } from '../../src/config/table/index.js';
import type { Setting, SettingElsewhere } from '../../src/config/table/setting.js';

const files = () => [...SECRET_SETTINGS.keys()].map((name) => `\`${name}_FILE\``).join(', ');

const BEFORE = () => `# Settings

Settings are environment variables, or the same names in a file \`.env\` in the working folder (the environment wins). All problems
are reported together, each with the name of its setting and never with its value. To try Towline out, nothing needs to be set: if
\`SERVICE_BASE_URL\` is not set, the service is our own sandbox; if in addition \`GATEWAY_HOST\` and \`PUBLIC_URL\` are on this machine,
Towline runs in development mode. With any other service, even at an address of this machine, tokens and keys are required unless
[\`DEVELOPMENT\`](#development) is set.

A file \`.env\` may belong to a folder that another person made. So it names no program and no place of programs (\`TEMPORAL_CLI_PATH\`,
\`TOWLINE_CACHE\`, \`NODE_*\`, \`PATH\` and the like count only in the environment), and a \`TOWLINE_TOKEN\` of the environment is not sent to
another machine that only the file names.

Outside of development a process refuses to start with settings that open what they should close: guessable secrets, one secret for two
purposes, networks that cover a good part of all addresses, a \`PUBLIC_URL\` that the service cannot reach, and others
([tests](../test/config/production.test.ts)). What can be meant (a Temporal elsewhere without TLS, a variable that looks like a setting
and is none) is a line in the log at each start, and a note of \`towline doctor\`.

## Secrets in files

Each secret can be a file instead, named by its setting and \`_FILE\`:
${files()}.
A list may have one entry on each line. Only its owner, or its group, may be able to read it (mode 400 or 440). To replace a file, rename a new file into its place.
Setting both a setting and its file is an error. Outside of development, nothing starts either if a \`.env\` file has one of these
secrets and others can read it: \`chmod 600 .env\`.

Gateways and workers read them again when their file changes, within a fifth of a second and before anything is refused, without a
restart. If the new file cannot be used, or has a secret that the start would refuse (guessable, shared by two purposes, a reserved name), the last
good value stays, and the log has an error.
[The credentials for Temporal](deployment.md#temporal-cloud-or-a-temporal-with-tls) are read again within seconds. Two secrets are read
at the start only, and need a restart of each process, one after the other:

- \`PAYLOAD_KEYS\`: every process must have a key before any process encrypts with it, and
  [the steps of a rotation](deployment.md#replacing-a-payload-key) keep that order only if you know which keys each process has.
- \`DATABASE_URL\`: its connections stay open, and money may be under way on them. Let the database accept the earlier credentials until
  the last process has the new ones.

\`—\` means none. _Italic_ values are derived.

Each row comes from [the table of settings](../src/config/table/index.ts).
[test/architecture/docs.test.ts](../test/architecture/docs.test.ts) computes this page, and fails if it differs; \`WRITE_DOCS=1\` writes
it.`;

/** docs/settings.md, with a row for each setting. */
export function settingsDocument(): string {
  const sections = SECTIONS.map(({ heading, intro, rows }) =>
    [
      `## ${heading}\n`,
      ...(intro === undefined ? [] : [`${intro}\n`]),
      '| setting | default | what it is |',
      '|---|---|---|',
      ...rows.flatMap((row) =>
        row.sentence === undefined ? [] : [`| \`${row.name}\` | ${byDefault(row)} | ${row.sentence} |`],
      ),
    ].join('\n'),
  );
  return `${[BEFORE(), ...sections].join('\n\n')}\n`;
}

function byDefault(row: Setting | SettingElsewhere): string {
  if (row.derived !== undefined) return `_${row.derived}_`;
  const text = 'schema' in row ? defaultOf(row) : row.byDefault;
  return text === undefined ? '—' : `\`${text}\``;
}

/** The text that the schema takes if the variable is not set. */
const defaultOf = ({ schema }: Setting): string | undefined =>
  schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined;
