/** Something that the user can do something about: its message is shown alone, without a stack. */
export class Failure extends Error {
  name = 'Failure';
}

/** Runs a script's main function; a number that it returns is the exit code. */
export async function runMain(main) {
  try {
    const code = await main(process.argv.slice(2));
    if (typeof code === 'number') process.exitCode = code;
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = 1;
  }
}
