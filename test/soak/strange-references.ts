import { openStrangersBench, strangeReferences, takenOverHttp } from '../gateway/setup/strange-references.js';

const COUNT = 5_000;

export default {
  name: 'strange-references',
  says: `fault 44: ${COUNT} strange references in every kind of path and in bodies, over HTTP`,
  async run(report: (line: string) => void): Promise<void> {
    const bench = await openStrangersBench();
    try {
      const wrong = await takenOverHttp(bench, strangeReferences(COUNT));
      const { seen } = bench.service;
      report(`${COUNT} references: taken ${wrong.length}, requests to the service ${seen.length}`);
      if (wrong.length > 0 || seen.length > 0) throw new Error(wrong.slice(0, 10).join('\n'));
    } finally {
      await bench.close();
    }
  },
};
