import { ChevronDown } from "lucide";
import type { ComponentProps, RefObject } from "react";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { useCarousel } from "./carousel";

export function CarouselButtons({ row, itemName }: { row: RefObject<HTMLElement | null>; itemName: string }) {
  const { index, atEnd } = useCarousel(row);
  const scroll = (direction: 1 | -1) => row.current?.scrollBy({ left: direction * 0.8 * row.current.clientWidth });
  return (
    <>
      <SlideButton direction="Previous" itemName={itemName} aria-disabled={index === 0} onClick={() => scroll(-1)} />
      <SlideButton direction="Next" itemName={itemName} aria-disabled={atEnd} onClick={() => scroll(1)} />
    </>
  );
}

type SlideButtonProps = ComponentProps<typeof Button> & { direction: "Previous" | "Next"; itemName: string };

export function SlideButton({ direction, itemName, ...props }: SlideButtonProps) {
  return (
    <Button type="button" look="icon" {...props}>
      <Icon of={ChevronDown} className={`size-5 ${direction === "Next" ? "-rotate-90" : "rotate-90"}`} />
      <span className="sr-only">
        {direction} {itemName}
      </span>
    </Button>
  );
}
