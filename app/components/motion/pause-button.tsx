import { Pause, Play } from "lucide";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { setPaused, useMotionSwitch } from "./moving";

export function PauseButton() {
  const state = useMotionSwitch();
  if (!state) return null;
  const isPaused = state === "paused";
  return (
    <Button look="icon" type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
      <Icon of={isPaused ? Play : Pause} className="size-5" />
      <span className="sr-only">Pause all animations</span>
    </Button>
  );
}
