import { Pause, Play } from "lucide";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { setPaused, useMotionSwitch } from "./moving";

/** The one switch for everything that moves; absent where nothing would. */
export function PauseButton() {
  const state = useMotionSwitch();
  if (!state) return null;
  const isPaused = state === "paused";
  const mark = isPaused ? Play : Pause;
  return (
    <Button look="icon" type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
      <Icon of={mark} className="size-5" />
      <span className="sr-only">Pause all motion</span>
    </Button>
  );
}
