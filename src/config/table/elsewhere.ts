import type { SettingElsewhere } from './setting.js';

/** They are handed to Temporal's own clients, and to the server that `towline up` starts. */
export const TEMPORAL: readonly SettingElsewhere[] = [
  {
    name: 'TEMPORAL_ADDRESS',
    derived: 'the server that `towline up` runs for `TOWLINE_HOME`',
    sentence:
      'address of a running Temporal server; a profile may name another. No command takes a server that nobody named',
  },
  {
    name: 'TEMPORAL_PORT',
    derived: 'that of the last start, at first `7233` or the next free one',
    sentence: 'port of the server that `towline up` starts',
  },
  {
    name: 'TEMPORAL_UI_PORT',
    derived: 'that of the last start, at first `8233` or the next free one',
    sentence: 'port of its UI',
  },
  {
    name: 'TEMPORAL_NAMESPACE',
    byDefault: 'default',
    sentence: 'its namespace; a profile may name another',
  },
  {
    name: 'TEMPORAL_CLI_PATH',
    sentence: 'a `temporal` binary to start our own server with; not from `.env`',
  },
  {
    name: 'TEMPORAL_UI_URL',
    derived: 'of our own server',
    sentence: 'where the Temporal UI is: the only origin that may use the codec server from a browser',
  },
  {
    name: 'TEMPORAL_*',
    sentence:
      "all others that [Temporal's own clients](https://docs.temporal.io/develop/environment-configuration) read: " +
      '[profile, API key, TLS](deployment.md#temporal-cloud-or-a-temporal-with-tls). A profile needs its file in ' +
      '`TEMPORAL_CONFIG_FILE`: none is looked for in a home folder',
  },
  // In the row before it.
  { name: 'TEMPORAL_API_KEY', secret: 'one' },
];

export const COMMAND_LINE: readonly SettingElsewhere[] = [
  {
    name: 'TOWLINE_TOKEN',
    derived: '`dev-token` for a gateway on this machine',
    sentence: 'the secret of a gateway token',
    secret: 'one',
  },
  {
    name: 'NO_COLOR',
    sentence: 'any value: no colours',
  },
  {
    name: 'NODE_TLS_REJECT_UNAUTHORIZED',
    sentence:
      "Node's own: with `0` no certificate is checked, so outside of development nothing starts. For a CA of your own " +
      "use Node's `NODE_EXTRA_CA_CERTS`",
  },
];
