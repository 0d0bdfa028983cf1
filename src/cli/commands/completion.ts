import type { Command } from 'commander';
import { FLOW_KINDS } from '../../protocol/vocabulary.js';
import { oneOfArgument } from '../arguments.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('completion')
    .description('Prints a script for your shell. It completes commands, their options, and the kinds of flow.')
    .argument('<shell>', SHELLS.join(', '), oneOfArgument(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(towline completion bash)\n  towline completion fish > ~/.config/fish/completions/towline.fish',
    )
    .action((shell: Shell) =>
      run(() => {
        context.out(SCRIPTS[shell](wordsByPath(program)));
        return Promise.resolve(EXIT.done);
      }),
    );
}

/** What may follow each chain of commands, such as `events replay`; the deepest chains first. */
type WordsByPath = readonly (readonly [path: string, words: readonly string[]])[];

function wordsByPath(command: Command, path: readonly string[] = []): WordsByPath {
  const below = command.commands.flatMap((one) => wordsByPath(one, [...path, one.name()]));
  const help = command.createHelp();
  const options = help.visibleOptions(command).map(({ long, short }) => long ?? short ?? '');
  const kinds = command.registeredArguments.some((argument) => argument.name() === 'kind') ? FLOW_KINDS : [];
  const words = [...help.visibleCommands(command).map((one) => one.name()), ...kinds, ...options];
  return [...below, [path.join(' '), words]];
}

const SCRIPTS: Readonly<Record<Shell, (all: WordsByPath) => string>> = {
  bash: bashScript,
  // zsh runs completions of bash.
  zsh: (all) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(all)}`,
  fish: fishScript,
};

function bashScript(all: WordsByPath): string {
  const cases = all.map(([path, words]) => {
    const pattern = path === '' ? '*' : `"${path} "*`;
    return `    ${pattern}) words="${words.join(' ')}" ;;`;
  });
  return `_towline() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path+="$word "
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _towline towline`;
}

function fishScript(all: WordsByPath): string {
  const lines = all.map(([path, words]) => {
    const names = path.split(' ').filter((name) => name !== '');
    const below = all.filter(([other]) => other.startsWith(`${path} `)).map(([other]) => other.slice(path.length + 1));
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const unseen = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
    const when = names.length === 0 ? '__fish_use_subcommand' : [...seen, ...unseen].join('; and ');
    return `complete -c towline -n '${when}' -a '${words.join(' ')}'`;
  });
  return ['complete -c towline -f', ...lines].join('\n');
}
