import type { Dialect } from './sql-connection.js';

export const LIBSQL: Dialect = {
  name: 'libsql',
  ddl: (statement) =>
    statement
      .replaceAll('BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY', 'INTEGER PRIMARY KEY AUTOINCREMENT')
      .replaceAll(/\bBIGINT\b/g, 'INTEGER')
      .replaceAll(/\bBYTEA\b/g, 'BLOB')
      .replace(/^CREATE TABLE .*\)$/s, '$& STRICT'),
  elements: 'json_each',
  idsAsJson: 'json_group_array(id)',
  // The second one is a retry of a receipt that was committed, though its caller got another answer.
  onRepeatedEvent: `
    ON CONFLICT (source, came_to, came_trusted, content_hash) DO UPDATE SET repeats = repeats + 1
    ON CONFLICT (id) DO UPDATE SET repeats = repeats + 1
      WHERE source = excluded.source AND came_to = excluded.came_to
        AND came_trusted = excluded.came_trusted AND content_hash = excluded.content_hash`,
  joinOldestWaiting: `
    CROSS JOIN inbox ON inbox.seq IN (SELECT seq FROM inbox AS of_flow
      WHERE of_flow.flow_id = inbox_flows.flow_id AND of_flow.state = 'waiting' ORDER BY seq LIMIT ?)`,
  // One writer at a time has the whole file.
  forUpdateSkippingLocked: '',
  isMissingTable: (code) => code === 'SQLITE_ERROR',
  isConflict: (code) => code.startsWith('SQLITE_CONSTRAINT'),
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  ddl: (statement) => statement,
  elements: 'json_array_elements_text',
  idsAsJson: 'json_agg(id ORDER BY seq)::text',
  // The unique content index is checked first: a retry, which violates both, ends here.
  onRepeatedEvent: `
    ON CONFLICT (source, came_to, came_trusted, content_hash) DO UPDATE SET repeats = inbox.repeats + 1`,
  joinOldestWaiting: `
    CROSS JOIN LATERAL (SELECT * FROM inbox AS of_flow
      WHERE of_flow.flow_id = inbox_flows.flow_id AND of_flow.state = 'waiting' ORDER BY seq LIMIT ?) AS inbox`,
  forUpdateSkippingLocked: 'FOR UPDATE SKIP LOCKED',
  isMissingTable: (code) => code === '42P01',
  isConflict: (code) => code === '23505',
};
