import { Ellipsis } from "lucide-react";
import { useState } from "react";
import type { MenuPoint } from "~/features/switcher/TaskRow";
import { TaskRowMenu } from "~/features/switcher/TaskRowMenu";
import { IconButton } from "~/ui/IconButton";
import type { Task } from "~/wire/generated/Task";

/** The row's own menu, from the task's header. */
export function TaskMenu({ task }: { task: Task }) {
  const [point, setPoint] = useState<MenuPoint>();
  return (
    <>
      <IconButton
        label="Task actions"
        aria-haspopup="menu"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setPoint({ taskId: task.id, x: box.left, y: box.bottom });
        }}
      >
        <Ellipsis size={17} />
      </IconButton>
      {point && <TaskRowMenu point={point} onClose={() => setPoint(undefined)} />}
    </>
  );
}
